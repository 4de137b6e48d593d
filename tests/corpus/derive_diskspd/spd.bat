diskspd.exe -b8K -r8K -t4 -o16 -w30 -d60 -W5 -Sh -L -c1G -g100i E:\a.dat F:\b.dat > x.txt
diskspd -b64K -si -t2 -o8 -w100 -Suw -d10 -W0 -c512M E:\c.dat
diskspd -b512K -w100 -Su -d10 -c512M -Zr E:\c.dat
